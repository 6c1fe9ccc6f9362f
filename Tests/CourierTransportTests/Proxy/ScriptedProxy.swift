import Synchronization
import TestSupport

@testable import CourierTransport

/// A proxy of a test: says what its script says, whatever it is told.
final class ScriptedProxy: Sendable {
    enum Act: Sendable, Equatable {
        case say([UInt8])
        /// One write for each byte.
        case spell([UInt8])
        /// The same bytes for as long as the other side takes them.
        case sayForEver([UInt8])
        case close
        case reset
        case nothing

        static func say(_ text: String) -> Act { .say(Array(text.utf8)) }
    }

    /// What to do once so many bytes have come in all.
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
    /// In the order in which they came.
    let connections = Watched<[Connection]>([])

    /// Serves the first connection by the first script and so on, all further ones by the last.
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

    /// Safe: touched on the loop only.
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
