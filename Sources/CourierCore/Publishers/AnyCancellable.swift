import Synchronization

/// A subscription that ends when it is cancelled or dropped.
///
/// ```swift
/// private var cancellables = Set<AnyCancellable>()
/// publisher.sink { show($0) }.store(in: &cancellables)
/// ```
public final class AnyCancellable: Hashable, Sendable {
    private let action: Mutex<(@Sendable () -> Void)?>

    /// Makes a cancellable of what is to be done.
    ///
    /// - Parameter cancel: Ends the subscription; called once, on the thread that cancels or drops.
    public init(_ cancel: @escaping @Sendable () -> Void) { action = Mutex(cancel) }

    deinit { cancel() }

    /// Ends the subscription; calling it again does nothing.
    ///
    /// Called on the place where values are delivered, no value arrives after it has returned. Called elsewhere, values
    /// may arrive until then, and a value that is being delivered may arrive after it.
    public func cancel() {
        let action = action.withLock { $0.take() }
        action?()
    }

    /// Keeps the subscription as long as the set keeps it.
    ///
    /// - Parameter set: The set.
    public func store(in set: inout Set<AnyCancellable>) { set.insert(self) }

    /// Keeps the subscription as long as the collection keeps it.
    ///
    /// - Parameter collection: The collection; the subscription is appended.
    public func store<Cancellables: RangeReplaceableCollection>(
        in collection: inout Cancellables
    ) where Cancellables.Element == AnyCancellable {
        collection.append(self)
    }

    /// Compares identity.
    public static func == (left: AnyCancellable, right: AnyCancellable) -> Bool { left === right }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
