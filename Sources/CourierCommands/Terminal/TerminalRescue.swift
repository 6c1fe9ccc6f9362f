#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Restores the terminal when a signal such as SIGSEGV or SIGQUIT ends the program, because normal cleanup does not run
/// then.
enum TerminalRescue {
    /// The data that the signal handler needs, in memory that is never freed.
    private struct Belongings {
        var output: Int32
        var input: Int32
        var modes: termios
        var text: UnsafeMutableBufferPointer<UInt8>
        var isNeeded: Bool
    }

    private static let crashes = [SIGQUIT, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE]

    /// The data for the signal handler. It is safe without a lock. The pointer is set once, before the signal handler
    /// that reads it is installed. Only the queue of the process's single screen changes the data. If a signal
    /// interrupts a change of the data, the handler may write a useless escape sequence. This is harmless, because the
    /// program then ends.
    private nonisolated(unsafe) static let belongings: UnsafeMutablePointer<Belongings> = {
        let text = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: FramePainter.closing.utf8.count)
        _ = text.initialize(from: FramePainter.closing.utf8)
        let place = UnsafeMutablePointer<Belongings>.allocate(capacity: 1)
        place.initialize(to: Belongings(output: -1, input: -1, modes: termios(), text: text, isNeeded: false))
        return place
    }()

    /// The signal handler.
    private static let received: @convention(c) (Int32) -> Void = { number in
        TerminalRescue.giveBack()
        // The raised signal is blocked until this handler returns. Then its default action ends the program.
        raise(number)
    }

    /// Restores this terminal if the program crashes from now on.
    static func prepare(input: Int32, output: Int32, modes: termios) {
        belongings.pointee.output = output
        belongings.pointee.input = input
        belongings.pointee.modes = modes
        belongings.pointee.isNeeded = true
        for number in crashes {
            var action = sigaction()
            #if canImport(Glibc)
                action.__sigaction_handler.sa_handler = received
            #elseif canImport(Musl)
                action.__sa_handler.sa_handler = received
            #elseif canImport(Darwin)
                action.__sigaction_u.__sa_handler = received
            #endif
            action.sa_flags = Int32(truncatingIfNeeded: SA_RESETHAND)
            sigaction(number, &action, nil)
        }
    }

    /// Turns off the restoring on a crash, after the terminal was restored.
    static func dismiss() { belongings.pointee.isNeeded = false }

    /// Restores the terminal. Calls only functions that are safe in a signal handler [POSIX.1-2017, 2.4.3].
    private static func giveBack() {
        guard belongings.pointee.isNeeded else { return }
        _ = write(belongings.pointee.output, belongings.pointee.text.baseAddress, belongings.pointee.text.count)
        tcsetattr(belongings.pointee.input, TCSANOW, &belongings.pointee.modes)
    }
}
