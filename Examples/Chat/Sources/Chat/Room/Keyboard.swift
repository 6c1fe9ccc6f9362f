import Foundation

/// Reads the lines that the user types.
enum Keyboard {
    /// Returns the lines of standard input until its end or Ctrl-C. A line is read only when the consumer requests it.
    static func lines() -> AsyncStream<String> {
        let (typed, typing) = AsyncStream.makeStream(of: String.self)
        let wanted = DispatchSemaphore(value: 0)
        // Reading blocks, so it needs its own thread. The thread ends with the input or the program.
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

/// Handles Ctrl-C and SIGTERM.
enum Interrupt {
    /// Calls `action` at the first signal, instead of ending the program. A second signal ends the program.
    static func first(_ action: @escaping @Sendable () -> Void) {
        for number in [SIGINT, SIGTERM] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler {
                source.cancel()  // Also releases the source, which its handler keeps alive until then.
                signal(number, SIG_DFL)
                action()
            }
            source.resume()
        }
    }
}
