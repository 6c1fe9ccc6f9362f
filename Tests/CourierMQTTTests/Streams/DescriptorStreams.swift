import Foundation
import Synchronization

/// Foundation streams over a socket, like the streams of an accessory's session.
enum DescriptorStreams {
    private static let socketType = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)

    /// Returns the streams of one socket. The socket is closed when both streams are released. `end` makes blocked
    /// calls return.
    static func pair(
        _ socket: Int32, bytesPerCall: Int = .max, onRelease: @escaping @Sendable () -> Void = {}
    ) -> (input: InputStream, output: OutputStream, end: @Sendable () -> Void) {
        let owner = SocketOwner(socket, onRelease: onRelease)
        return (
            DescriptorInput(owner, bytesPerCall), DescriptorOutput(owner, bytesPerCall),
            { [weak owner] in owner?.shutDown(Int32(SHUT_RDWR)) }
        )
    }

    /// Creates two connected sockets.
    static func socketPair() throws -> (Int32, Int32) {
        var sockets: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, socketType, 0, &sockets) == 0 else { throw POSIXError(.EMFILE) }
        return (sockets[0], sockets[1])
    }

    /// Creates a socket that is connected to a port of this machine.
    static func socket(to port: UInt16) throws -> Int32 {
        let descriptor = Foundation.socket(AF_INET, socketType, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(descriptor)
            throw POSIXError(.ECONNREFUSED)
        }
        return descriptor
    }
}

/// Closes a socket when both streams are released.
private final class SocketOwner: Sendable {
    let descriptor: Int32
    private let onRelease: @Sendable () -> Void

    init(_ descriptor: Int32, onRelease: @escaping @Sendable () -> Void) {
        self.descriptor = descriptor
        self.onRelease = onRelease
    }

    func shutDown(_ how: Int32) { _ = shutdown(descriptor, how) }

    deinit {
        close(descriptor)
        onRelease()
    }
}

private final class DescriptorInput: InputStream {
    private let owner: SocketOwner
    private let bytesPerCall: Int
    private var status = Stream.Status.notOpen
    private var failure: NSError?

    init(_ owner: SocketOwner, _ bytesPerCall: Int) {
        self.owner = owner
        self.bytesPerCall = bytesPerCall
        super.init(data: Data())
    }

    override var streamStatus: Stream.Status { status }
    override var streamError: (any Error)? { failure }
    override func open() { status = .open }
    override func close() { status = .closed }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        let count = recv(owner.descriptor, buffer, min(length, bytesPerCall), 0)
        if count == 0 { status = .atEnd }
        if count < 0 {
            failure = NSError(domain: NSPOSIXErrorDomain, code: Int(errno))
            status = .error
        }
        return count
    }
}

private final class DescriptorOutput: OutputStream {
    private let owner: SocketOwner?
    private let bytesPerCall: Int
    private var status = Stream.Status.notOpen
    private var failure: NSError?

    init(_ owner: SocketOwner, _ bytesPerCall: Int) {
        self.owner = owner
        self.bytesPerCall = bytesPerCall
        super.init(toMemory: ())
    }

    /// Not used, but every subclass must have this initializer.
    required init(toMemory: ()) {
        owner = nil
        bytesPerCall = 0
        super.init(toMemory: ())
    }

    override var streamStatus: Stream.Status { status }
    override var streamError: (any Error)? { failure }
    override func open() { status = .open }
    override func close() {
        status = .closed
        owner?.shutDown(Int32(SHUT_WR))
    }

    override func write(_ buffer: UnsafePointer<UInt8>, maxLength length: Int) -> Int {
        guard let owner else { return -1 }
        let count = send(owner.descriptor, buffer, min(length, bytesPerCall), 0)
        if count < 0 {
            failure = NSError(domain: NSPOSIXErrorDomain, code: Int(errno))
            status = .error
        }
        return count
    }
}
