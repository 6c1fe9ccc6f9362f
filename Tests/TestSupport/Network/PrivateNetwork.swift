package import Testing

/// The system call `unshare(2)`, which Swift's `Glibc` module does not declare.
@_silgen_name("unshare")
private func unshare(_ flags: Int32) -> Int32

/// A separate network namespace for one thread, for tests that turn network links on and off.
package enum PrivateNetwork {
    package static let requirement: Comment =
        "needs a kernel and the privilege to make network namespaces, iproute2 and veth"

    /// The value of `CLONE_NEWNET`.
    private static let newNetwork: Int32 = 0x4000_0000

    /// Moves the calling thread permanently into a new namespace. Returns true on success.
    package static func enter() -> Bool { unshare(newNetwork) == 0 }
}
