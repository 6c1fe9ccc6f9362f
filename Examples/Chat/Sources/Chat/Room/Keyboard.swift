import Foundation

/// What is typed.
enum Keyboard {
    /// The lines of standard input until it ends, or until Ctrl-C. One is read when it is wanted, and not before.
    static func lines() -> AsyncStream<String> {
        let (typed, typing) = AsyncStream.makeStream(of: String.self)
        let wanted = DispatchSemaphore(value: 0)
        // A thread of its own, since reading blocks it; it ends with the input or the program.
        Thread {
            wanted.wait()
            while let line = readLine() {
                typing.yield(line)
                wanted.wait()
            }
            typing.finish()
        }.start()
        Interrupt.first { typing.finish() }
        return AsyncStream {
            wanted.signal()
            return await typed.first { _ in true }
        }
    }
}

/// Ctrl-C and SIGTERM.
enum Interrupt {
    /// Calls `action` at the first one, instead of ending the program; a second one ends it.
    static func first(_ action: @escaping @Sendable () -> Void) {
        for number in [SIGINT, SIGTERM] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler {
                source.cancel()  // Which also lets go of the source; until then the handler keeps it.
                signal(number, SIG_DFL)
                action()
            }
            source.resume()
        }
    }
}
