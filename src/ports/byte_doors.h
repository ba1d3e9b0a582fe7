// Doors open bytes from and to the outside: one for each kind of thing there is outside.
//
// Errors say the path or address and why not. Opening fails with cannot_open where a file is
// missing or may not be used, with cannot_connect where a server or broker does not answer in time;
// reading and writing later with cannot_read (no disk gives what it should), cannot_write (the disk
// is full) and, once interrupted, cancelled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "ports/bytes.h"

namespace baton {

struct OpenedFile {
    std::unique_ptr<ByteSink> sink;
    bool is_empty = true;  // nothing was there before
};

class FileDoor {
public:
    virtual ~FileDoor() = default;

    // Ends where the file ends; a pipe ends when its last writer closes it.
    virtual Result<std::unique_ptr<ByteSource>> read(const std::string& path) = 0;
    // A missing file is created; an existing one keeps its contents only if asked for. finish()
    // syncs the file and its directory.
    virtual Result<OpenedFile> write(const std::string& path, bool append) = 0;
    // Standard output. The bytes of one write stay together.
    virtual Result<std::unique_ptr<ByteSink>> print() = 0;
};

struct TcpServer {
    std::string host;
    std::uint16_t port = 0;
    bool ipv6 = false;
    std::size_t read_bytes = 1024;  // asked of the socket at once
    Duration connect_timeout = std::chrono::seconds(10);
};

class TcpDoor {
public:
    virtual ~TcpDoor() = default;

    // A client. The server's orderly close is the end of the source; a connection that is lost in
    // any other way is made again, later each time, for as long as the source is open.
    virtual Result<std::unique_ptr<ByteSource>> connect(const TcpServer& server) = 0;
};

struct MqttBroker {
    // tcp://host:port, mqtt://host:port, host:port or host; ssl:// and mqtts:// are encrypted
    std::string uri;
    std::string topic;
    std::optional<std::string> client_id;  // made up if absent
    int qos = 1;
    std::optional<std::string> username;
    std::optional<std::string> password;
    int keep_alive_seconds = 60;
    bool clean_session = true;
    // Of an encrypted connection, each as PEM. The broker's certificate is always verified.
    std::optional<std::string> tls_ca;  // who signed it; the system's authorities if absent
    std::optional<std::string> tls_cert;
    std::optional<std::string> tls_key;
    std::optional<std::string> tls_server_name;  // that it has to name; the host if absent
};

struct MqttSubscription {
    MqttBroker broker;
    std::string delimiter = "\n";  // put after a message that does not end with it
    bool log_messages = false;     // on standard error
};

struct MqttPublication {
    MqttBroker broker;
    bool retained = false;
    std::size_t outstanding_max = 128;  // messages that the broker has not confirmed
};

class MqttDoor {
public:
    virtual ~MqttDoor() = default;

    // Has no end. A lost connection is made again; whole messages only are given.
    virtual Result<std::unique_ptr<ByteSource>> subscribe(const MqttSubscription& subscription) = 0;
    // Each write is a message. flush() and finish() wait until the broker has confirmed all of
    // them.
    virtual Result<std::unique_ptr<ByteSink>> publish(const MqttPublication& publication) = 0;
};

}  // namespace baton
