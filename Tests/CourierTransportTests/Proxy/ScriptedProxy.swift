import Synchronization
import TestSupport

@testable import CourierTransport

/// A proxy that follows a script and ignores the content of the bytes that it receives.
final class ScriptedProxy: Sendable {
    enum Act: Sendable, Equatable {
        case say([UInt8])
        /// Sends each byte with its own write.
        case spell([UInt8])
        /// Sends the same bytes again and again while the other side reads them.
        case sayForEver([UInt8])
        case close
        case reset
        case nothing

        static func say(_ text: String) -> Act { .say(Array(text.utf8)) }
    }

    /// An action that is done after the proxy has received `after` bytes in total.
    struct Step: Sendable {
        var after: Int
        var act: Act
    }

    struct Connection: Sendable {
        var received: [UInt8] = []
        var isClosed = false
    }

    private let listener: ChannelListener
    private let scripts: [[Step]]
    /// The connections, in the order in which they were accepted.
    let connections = Watched<[Connection]>([])

    /// Uses the first script for the first connection, and so on. Uses the last script for all further connections.
    init(_ scripts: [Step]..., on loop: EventLoop) throws {
        self.scripts = scripts
        let connections = connections
        let count = Mutex(0)
        listener = try ChannelListener.listen(loop: loop) { channel in
            let number = count.withLock { count in
                defer { count += 1 }
                return count
            }
            connections.update { $0.append(Connection()) }
            return Handler(
                number, scripts[min(number, scripts.count - 1)], connections)
        }
    }

    var port: UInt16 { listener.port }

    func setting(
        _ kind: ProxyConfiguration.Kind, _ credentials: ProxyCredentials? = nil
    ) throws -> ProxySetting {
        .proxy(try ProxyConfiguration(kind, host: "127.0.0.1", port: port, credentials: credentials))
    }

    /// Safe: used on the loop only.
    private final class Handler: ChannelHandler, @unchecked Sendable {
        private let number: Int
        private var steps: ArraySlice<Step>
        private let connections: Watched<[Connection]>
        private var channel: ByteChannel?
        private var count = 0
        private var flood: [UInt8]?

        init(_ number: Int, _ steps: [Step], _ connections: Watched<[Connection]>) {
            self.number = number
            self.steps = steps[...]
            self.connections = connections
        }

        func opened(_ channel: ByteChannel) {
            self.channel = channel
            act()
        }

        func received(_ bytes: RawSpan) -> Int {
            let (copy, number) = (bytes.withUnsafeBytes { Array($0) }, number)
            connections.update { $0[number].received += copy }
            count += copy.count
            act()
            return copy.count
        }

        func fellBelowLowWater() { pour() }

        func closed(_ reason: ChannelCloseReason) {
            channel = nil
            let number = number
            connections.update { $0[number].isClosed = true }
        }

        private func act() {
            while let step = steps.first, step.after <= count {
                steps.removeFirst()
                switch step.act {
                case .say(let bytes): channel?.write(bytes)
                case .spell(let bytes): for byte in bytes { channel?.write([byte]) }
                case .sayForEver(let bytes):
                    flood = Array(repeatElement(bytes, count: (16 << 10) / bytes.count).joined())
                    pour()
                case .close: channel?.close()
                case .reset: channel?.abort()
                case .nothing: break
                }
            }
        }

        private func pour() {
            guard let flood else { return }
            while let channel, channel.isOpen, !channel.isAboveHighWater { channel.write(flood) }
        }
    }
}
