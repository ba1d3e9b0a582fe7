# cmake -DFILE=<file> -DHEADER=<header> -DFUNCTION=<name> -DOUTPUT=<file.cc> -P text_source.cmake
#
# Writes a source file with a function that returns the text of the file, in the namespace of the
# HTTP door.
file(READ ${FILE} text)
file(WRITE ${OUTPUT} "#include \"${HEADER}\"

namespace baton::http {

std::string_view ${FUNCTION}() {
    return R\"~~(${text})~~\";
}

}  // namespace baton::http
")
