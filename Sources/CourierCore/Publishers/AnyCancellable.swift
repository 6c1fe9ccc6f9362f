import Synchronization

/// A subscription that ends when it is cancelled or released.
///
/// ```swift
/// private var cancellables = Set<AnyCancellable>()
/// publisher.sink { show($0) }.store(in: &cancellables)
/// ```
public final class AnyCancellable: Hashable, Sendable {
    private let action: Mutex<(@Sendable () -> Void)?>

    /// Makes a cancellable from a closure that ends the subscription.
    ///
    /// - Parameter cancel: Ends the subscription. It is called once, on the thread that cancels or releases this
    ///   object.
    public init(_ cancel: @escaping @Sendable () -> Void) { action = Mutex(cancel) }

    deinit { cancel() }

    /// Ends the subscription; calling it again does nothing.
    ///
    /// If this method is called on the thread or queue that delivers the values, no value arrives after it returns. If
    /// it is called on another thread, a value whose delivery has begun may still arrive after it returns.
    public func cancel() {
        let action = action.withLock { $0.take() }
        action?()
    }

    /// Adds this subscription to a set, which keeps it active.
    ///
    /// - Parameter set: The set to add to.
    public func store(in set: inout Set<AnyCancellable>) { set.insert(self) }

    /// Appends this subscription to a collection, which keeps it active.
    ///
    /// - Parameter collection: The collection to append to.
    public func store<Cancellables: RangeReplaceableCollection>(
        in collection: inout Cancellables
    ) where Cancellables.Element == AnyCancellable {
        collection.append(self)
    }

    /// Returns whether both are the same object.
    public static func == (left: AnyCancellable, right: AnyCancellable) -> Bool { left === right }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
