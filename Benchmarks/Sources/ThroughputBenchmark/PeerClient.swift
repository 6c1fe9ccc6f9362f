import BenchmarkHarness
import CPeers

/// A client that uses a client library written in C, through the functions of CPeers.
struct PeerClient: ThroughputClient {
    private let peer: OpaquePointer

    init(_ library: peer_library, _ workload: Workload) throws {
        let connected = workload.withPeerPlan { peer_connect(library, $0) }
        guard let connected else { throw Failure("the library cannot connect to the sink") }
        peer = connected
    }

    func publish(_ count: Int) throws {
        guard peer_publish(peer, UInt64(count)) else { throw Failure("the library did not publish every message") }
    }

    func receive(_ count: Int) -> Int { Int(peer_receive(peer, UInt64(count))) }

    func close() { peer_close(peer) }
}

/// A client without a library, on a bare socket. It is the upper limit for the speed of a library.
struct BareSocketClient: ThroughputClient {
    private let socket: OpaquePointer

    init(_ workload: Workload) throws {
        let connected = workload.withPeerPlan { bare_socket_connect($0) }
        guard let connected else { throw Failure("the bare socket cannot connect to the sink") }
        socket = connected
    }

    func publish(_ count: Int) throws {
        guard bare_socket_publish(socket, UInt64(count)) else { throw Failure("the sink closed the bare socket") }
    }

    func receive(_ count: Int) -> Int { Int(bare_socket_receive(socket, UInt64(count))) }

    func close() { bare_socket_close(socket) }
}

extension Workload {
    /// Calls `body` with the workload as the struct that the C functions need.
    fileprivate func withPeerPlan(_ body: (UnsafePointer<peer_plan>) -> OpaquePointer?) -> OpaquePointer? {
        topic.withCString { topic in
            var plan = peer_plan()
            plan.port = port
            plan.qos = Int32(qos)
            plan.payload_size = payloadSize
            plan.user_properties = Int32(userPropertyCount)
            plan.window = Int32(window)
            plan.topic = topic
            return body(&plan)
        }
    }
}
