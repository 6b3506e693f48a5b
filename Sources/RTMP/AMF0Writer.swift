/// Writes AMF0 values.
///
/// Spec: AMF0 Specification §2.
package struct AMF0Writer {
    /// The bytes written so far.
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// Returns the encoded bytes of `values`, concatenated.
    package static func bytes(_ values: [AMF0Value]) -> [UInt8] {
        var writer = AMF0Writer()
        for value in values { writer.write(value) }
        return writer.bytes
    }

    /// Appends one value. A string over 65,535 bytes becomes a long string; longer names are cut off there.
    package mutating func write(_ value: AMF0Value) {
        switch value {
        case .number(let number):
            self.bytes.append(0x00)
            self.unsigned(number.bitPattern, 8)
        case .boolean(let flag): self.bytes += [0x01, flag ? 1 : 0]
        case .string(let string): self.string(string)
        case .object(let properties):
            self.bytes.append(0x03)
            self.properties(properties)
        case .ecmaArray(let properties):
            self.bytes.append(0x08)
            self.unsigned(UInt64(properties.count), 4)
            self.properties(properties)
        case .strictArray(let elements):
            self.bytes.append(0x0A)
            self.unsigned(UInt64(elements.count), 4)
            for element in elements { self.write(element) }
        case .null: self.bytes.append(0x05)
        case .undefined: self.bytes.append(0x06)
        case .reference(let index):
            self.bytes.append(0x07)
            self.unsigned(UInt64(index), 2)
        case .date(let milliseconds):
            self.bytes.append(0x0B)
            self.unsigned(milliseconds.bitPattern, 8)
            self.unsigned(0, 2)
        case .unsupported: self.bytes.append(0x0D)
        case .xml(let text):
            self.bytes.append(0x0F)
            self.longText(text)
        case .typedObject(let name, let properties):
            self.bytes.append(0x10)
            self.text(name)
            self.properties(properties)
        }
    }

    private mutating func unsigned(_ value: UInt64, _ size: Int) {
        for index in (0..<size).reversed() {
            self.bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index)))
        }
    }

    private mutating func string(_ string: String) {
        if string.utf8.count > 0xFFFF {
            self.bytes.append(0x0C)
            self.longText(string)
        } else {
            self.bytes.append(0x02)
            self.text(string)
        }
    }

    private mutating func text(_ text: String) {
        let utf8 = text.utf8.prefix(0xFFFF)
        self.unsigned(UInt64(utf8.count), 2)
        self.bytes += utf8
    }

    private mutating func longText(_ text: String) {
        self.unsigned(UInt64(text.utf8.count), 4)
        self.bytes += text.utf8
    }

    private mutating func properties(_ properties: [AMF0Property]) {
        for property in properties {
            self.text(property.name)
            self.write(property.value)
        }
        self.bytes += [0, 0, 0x09]
    }
}
