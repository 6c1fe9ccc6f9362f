package import Testing

/// `unshare(2)`, which Swift's `Glibc` leaves out.
@_silgen_name("unshare")
private func unshare(_ flags: Int32) -> Int32

/// A network namespace of a thread's own, for tests that take links up and down.
package enum PrivateNetwork {
    package static let requirement: Comment =
        "needs a kernel and the privilege to make network namespaces, iproute2 and veth"

    /// `CLONE_NEWNET`.
    private static let newNetwork: Int32 = 0x4000_0000

    /// Moves the calling thread into a new namespace, for good; whether it could.
    package static func enter() -> Bool { unshare(newNetwork) == 0 }
}
