/// Checks the text of a model file for libavfilter's `arnndn`, which checks only that the numbers can be read: layers that do not
/// fit together would make it write outside its buffers.
///
/// The format is that of rnnoise-nu: a line with the version, then six layers. A layer is a line with its numbers of inputs and of
/// neurons and its activation function, then arrays of weights; each array ends at the end of a line. Everything is decimal
/// integers in ASCII. `arnndn` skips what follows an array in the same line, so that is an error here: `arnndn` would read other
/// numbers than this check.
package enum NoiseModel {
    /// Largest size of a model file in bytes. The known models have less than 0.5 MB.
    package static let mostBytes = 4_000_000

    /// First words of the file.
    private static let title = ["rnnoise-nu", "model", "file", "version", "1"]
    /// Number of features of the signal, the input of the first layer.
    private static let features = 42
    /// Number of frequency bands, the output of the denoising layer.
    private static let bands = 22
    /// Largest number of inputs, and of neurons, of a layer.
    private static let mostNeurons = 128

    /// Returns why `arnndn` must not load the file, as the end of a sentence that begins with its path; `nil` if it may.
    package static func problem(in bytes: [UInt8]) -> String? {
        guard bytes.count <= Self.mostBytes else { return "has \(bytes.count) bytes, which is too much for a model" }
        var words = Words(bytes: bytes)
        guard bytes.first == UInt8(ascii: "r"), self.title.allSatisfy({ words.next() == $0 }) else {
            return "does not begin with \"\(self.title.joined(separator: " "))\""
        }
        guard let dense = words.layer(inputs: self.features, isRecurrent: false),
            let voice = words.layer(inputs: dense, isRecurrent: true),
            let noise = words.layer(inputs: dense + voice + self.features, isRecurrent: true),
            let gain = words.layer(inputs: voice + noise + self.features, isRecurrent: true),
            words.layer(inputs: gain, neurons: self.bands, isRecurrent: false) != nil,
            words.layer(inputs: voice, neurons: 1, isRecurrent: false) != nil
        else { return "is damaged, or has layers that arnndn does not support" }
        return nil
    }

    /// The words of the file, read from its beginning.
    private struct Words {
        let bytes: [UInt8]
        private var index = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        /// Returns the next word; `nil` at the end of the file.
        mutating func next() -> String? {
            self.skipSpace()
            let first = self.index
            while self.index < self.bytes.count, !Self.isSpace(self.bytes[self.index]) { self.index += 1 }
            return self.index > first ? String(decoding: self.bytes[first..<self.index], as: UTF8.self) : nil
        }

        /// Reads a layer.
        ///
        /// - Parameters:
        ///   - inputs: The number of inputs that it must have.
        ///   - neurons: The number of neurons that it must have; `nil`: any number that is supported.
        ///   - isRecurrent: Whether each neuron has three gates, and weights for the layer's own last output.
        /// - Returns: Its number of neurons; `nil` if it is damaged or has another form.
        mutating func layer(inputs: Int, neurons: Int? = nil, isRecurrent: Bool) -> Int? {
            let supported = 1...NoiseModel.mostNeurons
            guard supported.contains(inputs), self.number() == inputs, let count = self.number(),
                supported.contains(count),
                count == neurons ?? count, let activation = self.number(), (0...2).contains(activation), self.endLine()
            else { return nil }
            let gates = isRecurrent ? 3 : 1
            guard self.skipArray(gates * inputs * count), !isRecurrent || self.skipArray(gates * count * count),
                self.skipArray(gates * count)
            else { return nil }
            return count
        }

        /// Reads an integer of at most nine digits; `nil` if there is none.
        private mutating func number() -> Int? {
            self.skipSpace()
            var (value, digits) = (0, 0)
            let isNegative = self.index < self.bytes.count && self.bytes[self.index] == UInt8(ascii: "-")
            if isNegative { self.index += 1 }
            while self.index < self.bytes.count, case let digit = self.bytes[self.index] &- 0x30, digit <= 9 {
                value = value * 10 + Int(digit)
                digits += 1
                self.index += 1
                guard digits <= 9 else { return nil }
            }
            guard digits > 0, self.index == self.bytes.count || Self.isSpace(self.bytes[self.index]) else { return nil }
            return isNegative ? -value : value
        }

        /// Reads `count` integers and the end of the line behind them; `false` if there are fewer, or more in this line.
        private mutating func skipArray(_ count: Int) -> Bool {
            for _ in 0..<count where self.number() == nil { return false }
            return self.endLine()
        }

        /// Reads the end of the line, or of the file; `false` if anything but space comes before it.
        private mutating func endLine() -> Bool {
            while self.index < self.bytes.count, Self.isSpace(self.bytes[self.index]) {
                self.index += 1
                if self.bytes[self.index - 1] == 0x0a { return true }
            }
            return self.index == self.bytes.count
        }

        private mutating func skipSpace() {
            while self.index < self.bytes.count, Self.isSpace(self.bytes[self.index]) { self.index += 1 }
        }

        private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
    }
}
