/// A value that most do without: it stands elsewhere, so that they do not keep room for it.
///
/// Each change of the value allocates.
@propertyWrapper
package enum Rare<Value> {
    case absent
    indirect case present(Value)

    package init(wrappedValue: Value?) { self = wrappedValue.map { .present($0) } ?? .absent }

    package var wrappedValue: Value? {
        get { if case .present(let value) = self { value } else { nil } }
        set { self = Rare(wrappedValue: newValue) }
    }
}

extension Rare: Sendable where Value: Sendable {}

extension Rare: Equatable where Value: Equatable {}

extension Rare: Hashable where Value: Hashable {}
