#include "engine/formats/decoder.h"

#include "base/text.h"
#include "engine/formats/csv_decoder.h"
#include "engine/formats/json_decoder.h"
#include "engine/formats/options.h"

namespace baton::formats {

Result<std::unique_ptr<Decoder>> make_decoder(const DecoderSetup& setup) {
    const std::string type = text_or(setup.format, "TYPE", "CSV");
    if (type == "CSV") return std::unique_ptr<Decoder>(std::make_unique<CsvDecoder>(setup));
    if (type == "JSON") return std::unique_ptr<Decoder>(std::make_unique<JsonDecoder>(setup));
    return Error{.code = ErrorCode::invalid_configuration,
                 .message = "rows cannot be read from the format " + in_quotes(type),
                 .hint = "known: CSV, JSON"};
}

}  // namespace baton::formats
