import Glibc
import Synchronization
import TestSupport

@testable import CourierTransport

extension SystemCalls {
    /// Real system calls that transfer a few bytes at a time and are sometimes interrupted.
    static func short(seed: UInt64, limit: Int = 700) -> SystemCalls {
        let random = Mutex(SeededGenerator(seed: seed))
        @Sendable func draw() -> Int { random.withLock { Int.random(in: 0...limit, using: &$0) } }
        let real = SystemCalls.real
        return SystemCalls(
            receive: { descriptor, space, count in
                let size = draw()
                return size == 0 ? -Int(EINTR) : real.receive(descriptor, space, min(count, size))
            },
            send: { descriptor, bytes, count in
                let size = draw()
                return size == 0 ? -Int(EINTR) : real.send(descriptor, bytes, min(count, size))
            },
            read: { descriptor, space, count in
                let size = draw()
                return size == 0 ? -Int(EINTR) : real.read(descriptor, space, min(count, size))
            },
            write: { descriptor, bytes, count in
                let size = draw()
                return size == 0 ? -Int(EINTR) : real.write(descriptor, bytes, min(count, size))
            }, shortReadsEmptySockets: false)
    }
}
