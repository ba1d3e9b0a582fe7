// A service on a coordinator of its own, for tests that need no sockets.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "doors/http/service.h"
#include "testing/coordinator/coordinator_test_base.h"

namespace baton::http {

class ServiceTest : public testing::CoordinatorTest {
protected:
    void SetUp() override {
        open(coordinator_options());
        desk_.emplace(*coordinator_, desk::DeskOptions{.threads = 4});
        service_.emplace(*desk_, access_, metrics_);
    }
    void TearDown() override {
        service_.reset();
        desk_.reset();
    }

    virtual coordinator::CoordinatorOptions coordinator_options() { return {}; }

    // As a connection does: first by the header alone.
    Service::Answered answered(Request request) {
        std::string known_as = "whoever";
        Duration wait{};
        if (auto refused = service_->refusal(request, known_as, wait)) return *std::move(refused);
        std::promise<Service::Answered> promise;
        const auto underway = service_->serve(
            std::move(request), [&](Service::Answered a) { promise.set_value(std::move(a)); });
        return promise.get_future().get();
    }
    Response ask(const std::string& method, const std::string& target, const std::string& body = {},
                 Headers headers = {}) {
        if (!body.empty()) headers.emplace_back("content-type", "application/json");
        auto told =
            answered({.method = method, .target = target, .headers = headers, .body = body});
        auto* response = std::get_if<Response>(&told);
        EXPECT_NE(response, nullptr) << target;
        return response == nullptr ? Response{} : std::move(*response);
    }
    Response sql(const std::string& text) {
        return ask("POST", "/v1/sql", nlohmann::json{{"sql", text}}.dump());
    }
    static nlohmann::json json_of(const Response& response) {
        return nlohmann::json::parse(response.body, nullptr, false);
    }
    static std::string header_of(const Response& response, const std::string& name) {
        for (const auto& [known, value] : response.headers) {
            if (known == name) return value;
        }
        return {};
    }

    desk::Access access_;
    desk::Metrics metrics_;
    std::optional<desk::Desk> desk_;
    std::optional<Service> service_;
};

}  // namespace baton::http
