// Waiting announces that this thread is about to wait for something else than a processor: the
// disk, a worker, another client. The owner of the thread may let another one work meanwhile.
//
// It costs next to nothing without a listener. To forget it is no defect, only slower.
#pragma once

namespace baton::threads {

class Waiting {
public:
    // Called on the thread that waits. They may not wait themselves, but for a moment.
    class Listener {
    public:
        Listener() = default;
        virtual ~Listener() = default;
        Listener(const Listener&) = delete;
        Listener& operator=(const Listener&) = delete;
        virtual void waits() = 0;
        virtual void goes_on() = 0;
    };
    // The listener of this thread from now on; null: none.
    static void tell(Listener* listener) { listener_ = listener; }

    Waiting() {
        if (listener_ != nullptr) listener_->waits();
    }
    ~Waiting() {
        if (listener_ != nullptr) listener_->goes_on();
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

private:
    static inline thread_local Listener* listener_ = nullptr;
};

}  // namespace baton::threads
