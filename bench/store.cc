// store: a folder as an object store, against the same work by hand: a file that is written,
// synced, renamed and whose directory is synced; a file that is read; names that are read and files
// that are looked at. They take turns within one run.
//
//     bench_store [--tiny] [--dir D]
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/folder/folder_store.h"
#include "adapters/system/system_clock.h"
#include "bench/measure.h"
#include "stores/sure_store.h"

namespace baton::bench {
namespace {

namespace fs = std::filesystem;

const std::string kBody(10'000, 'x');

void put_by_hand(const std::string& directory, int i) {
    const std::string temporary = directory + "/.temporary";
    const std::string path = directory + "/" + std::to_string(i);
    const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (::write(file, kBody.data(), kBody.size()) < 0 || ::fsync(file) != 0) give_up("no write");
    ::close(file);
    if (::rename(temporary.c_str(), path.c_str()) != 0) give_up("no rename");
    const int above = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (::fsync(above) != 0) give_up("no sync");
    ::close(above);
}

std::size_t get_by_hand(const std::string& path) {
    std::string bytes(kBody.size(), '\0');
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const auto count = ::read(file, bytes.data(), bytes.size());
    ::close(file);
    return count < 0 ? 0 : static_cast<std::size_t>(count);
}

std::size_t list_by_hand(const std::string& directory) {
    std::size_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(directory)) bytes += entry.file_size();
    return bytes;
}

std::size_t list_all(ObjectStore& store) {
    std::size_t count = 0;
    ListOptions options{.prefix = "many/", .after = {}};
    while (true) {
        const ListPage page = must(store.list(options, {}));
        count += page.objects.size();
        if (page.next.empty()) return count;
        options.after = page.next;
    }
}

void compare(const std::string& what, Table& table, unsigned rounds, Seconds time,
             const std::function<void()>& by_store, const std::function<void()>& by_hand) {
    std::vector<Contender> contenders = {
        {what, [&] { return run_clients(1, time, [&](unsigned) { by_store(); }); }},
        {what + ", by hand", [&] { return run_clients(1, time, [&](unsigned) { by_hand(); }); }}};
    take_turns(contenders, rounds);
    for (const Contender& each : contenders) {
        Latencies latencies = each.latencies();
        table.add({each.name, milliseconds(latencies.percentile(50)),
                   milliseconds(latencies.percentile(99)), text(each.cpu_us(), 1)});
    }
}

void measure(const Arguments& arguments) {
    const Scratch scratch(arguments);
    const system::SystemClock clock;
    stores::SureStore store(must(folder::FolderStore::open({.path = scratch / "store"}, clock)),
                            clock, 1);
    const int files = arguments.tiny ? 100 : 10'000;
    const unsigned rounds = arguments.tiny ? 1 : 5;
    const Seconds time(arguments.tiny ? 0.01 : 1);
    fs::create_directories(scratch / "store/many");
    fs::create_directories(scratch / "hand");
    for (int i = 0; i < files; ++i) {
        const std::string name = "part-" + std::to_string(100'000 + i) + ".parquet";
        std::ofstream(scratch / ("store/many/" + name)) << kBody;
    }
    Table table({"one thread", "p50", "p99", "CPU, us"});
    int mine = 0;
    int theirs = 0;
    compare(
        "write 10 KB, if absent", table, rounds, time,
        [&] { must(store.put("new/" + std::to_string(mine++), kBody, IfAbsent{}, {})); },
        [&] { put_by_hand(scratch / "hand", theirs++); });
    const std::string first = "part-100000.parquet";
    compare(
        "read 10 KB", table, rounds, time, [&] { must(store.get("many/" + first, {}, {})); },
        [&] { (void)get_by_hand(scratch / ("store/many/" + first)); });
    compare(
        "list " + text(files) + " objects", table, rounds, time, [&] { (void)list_all(store); },
        [&] { (void)list_by_hand(scratch / "store/many"); });
    table.print();
}

}  // namespace
}  // namespace baton::bench

int main(int count, char** values) {
    baton::bench::measure(baton::bench::arguments_of(count, values));
    return 0;
}
