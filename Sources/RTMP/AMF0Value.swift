/// One value of Action Message Format 0.
///
/// Spec: AMF0 Specification §2. Depth is bounded by the reader (``AMF0Reader/maximumDepth``).
package indirect enum AMF0Value: Sendable, Hashable {
    case number(Double)
    case boolean(Bool)
    /// Also the long string (marker 0x0C). Invalid UTF-8 is replaced by U+FFFD.
    case string(String)
    case object([AMF0Property])
    /// The announced count is not kept: writers get it wrong, and readers must not trust it.
    case ecmaArray([AMF0Property])
    case strictArray([AMF0Value])
    case null
    case undefined
    /// Index of an earlier object; the object is not looked up.
    case reference(UInt16)
    /// A date, in milliseconds since 1970-01-01T00:00:00Z.
    case date(Double)
    case unsupported
    case xml(String)
    case typedObject(name: String, [AMF0Property])

    /// The value as a number; nil if it is not a number.
    package var number: Double? {
        if case .number(let number) = self { number } else { nil }
    }

    /// The value as text; nil if it is not a string.
    package var string: String? {
        if case .string(let string) = self { string } else { nil }
    }

    /// The properties of an object, ECMA array or typed object, which encoders use interchangeably; nil for other values.
    package var properties: [AMF0Property]? {
        switch self {
        case .object(let properties), .ecmaArray(let properties), .typedObject(_, let properties): properties
        default: nil
        }
    }

    /// The first property with that name; nil if there is none, or if the value has no ``properties``.
    package subscript(name: String) -> AMF0Value? {
        self.properties?.first { $0.name == name }?.value
    }
}
