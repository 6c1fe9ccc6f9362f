/// An optional stored in a heap box, for values that are rarely set, so that the owning type stays small.
///
/// Each assignment of a value allocates memory.
@propertyWrapper
package enum BoxedOptional<Value> {
    case absent
    indirect case present(Value)

    package init(wrappedValue: Value?) { self = wrappedValue.map { .present($0) } ?? .absent }

    package var wrappedValue: Value? {
        get { if case .present(let value) = self { value } else { nil } }
        set { self = BoxedOptional(wrappedValue: newValue) }
    }
}

extension BoxedOptional: Sendable where Value: Sendable {}

extension BoxedOptional: Equatable where Value: Equatable {}

extension BoxedOptional: Hashable where Value: Hashable {}
