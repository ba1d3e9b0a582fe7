using namespace std;
using namespace std::chrono_literals;
