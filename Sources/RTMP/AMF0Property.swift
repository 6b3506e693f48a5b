/// One named value of an object or an ECMA array.
package struct AMF0Property: Sendable, Hashable {
    package let name: String
    package let value: AMF0Value

    package init(_ name: String, _ value: AMF0Value) {
        self.name = name
        self.value = value
    }
}
