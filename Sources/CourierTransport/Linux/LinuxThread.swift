#if os(Linux)
    import CLinux

    /// Sets the name and the priority of the calling thread.
    enum LinuxThread {
        static func nameCurrent(_ name: String) { courier_name_thread(name) }
        static func setNicenessOfCurrent(_ niceness: Int32) { courier_set_thread_niceness(niceness) }
    }
#endif
