# baton_proto: the messages and services of proto/, for adapters/grpc alone. What is generated is
# exempt from our warnings.
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)

set(generated ${CMAKE_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${generated})
set(proto_sources)
foreach(name control exchange results)
    set(base ${generated}/baton/${name})
    add_custom_command(
        OUTPUT ${base}.pb.cc ${base}.pb.h ${base}.grpc.pb.cc ${base}.grpc.pb.h
        COMMAND protobuf::protoc --proto_path=${CMAKE_SOURCE_DIR}/proto
            --cpp_out=${generated} --grpc_out=${generated}
            --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin>
            ${CMAKE_SOURCE_DIR}/proto/baton/${name}.proto
        DEPENDS ${CMAKE_SOURCE_DIR}/proto/baton/${name}.proto
        VERBATIM)
    list(APPEND proto_sources ${base}.pb.cc ${base}.grpc.pb.cc)
endforeach()
add_library(baton_proto STATIC ${proto_sources})
set_target_properties(baton_proto PROPERTIES UNITY_BUILD OFF)
target_include_directories(baton_proto SYSTEM PUBLIC ${generated})
target_link_libraries(baton_proto PUBLIC gRPC::grpc++ protobuf::libprotobuf)

# baton_arrow_schema: the tables of Arrow's stream format, for engine/arrow alone.
add_custom_command(
    OUTPUT ${generated}/arrow_ipc_generated.h
    COMMAND flatc --cpp --scoped-enums -o ${generated} ${CMAKE_SOURCE_DIR}/proto/arrow_ipc.fbs
    DEPENDS ${CMAKE_SOURCE_DIR}/proto/arrow_ipc.fbs
    VERBATIM)
add_custom_target(baton_arrow_schema_generated DEPENDS ${generated}/arrow_ipc_generated.h)
add_library(baton_arrow_schema INTERFACE)
add_dependencies(baton_arrow_schema baton_arrow_schema_generated)
target_include_directories(baton_arrow_schema SYSTEM INTERFACE ${generated})
