void fail() {
    throw 1;
}
