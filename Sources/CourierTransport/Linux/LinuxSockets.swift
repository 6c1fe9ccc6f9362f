#if os(Linux)
    import CLinux

    /// Creates sockets with the calls of Linux, which set all flags of a new socket at once.
    enum LinuxSockets {
        static func makeStream(family: Int32) -> Int32 { courier_stream_socket(family) }
        static func accept(_ listener: Int32) -> Int32 { courier_accept(listener) }
    }
#endif
