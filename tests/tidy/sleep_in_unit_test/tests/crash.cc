void wait() { usleep(1); }
