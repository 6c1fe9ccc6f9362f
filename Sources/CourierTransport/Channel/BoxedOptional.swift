/// A value that most do without: it stands elsewhere, so that they do not keep room for it.
///
/// Each change of the value allocates.
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
