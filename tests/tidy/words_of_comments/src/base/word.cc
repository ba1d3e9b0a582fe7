// What is said in a source file is not looked at.
int letters() {
    return 0;
}
