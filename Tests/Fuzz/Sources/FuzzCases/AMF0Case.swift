import MediaTypes
import PipelineSpec
import RTMP

/// AMF0 values, and their uses: data events, times of day, capabilities. Input: the bytes of a message.
enum AMF0Case {
    static let entry = FuzzCase("amf0", longest: 4096, seeds: Self.seeds, run: Self.run)

    static func seeds() -> [(name: String, bytes: [UInt8])] {
        var seeds: [(name: String, bytes: [UInt8])] = []
        for (name, bytes) in FuzzFiles.captures() {
            let messages = ChunkCase.read(Array(bytes.dropFirst(3073)), largest: .max, seed: 0).messages
            for (index, message) in messages.enumerated() where [15, 17, 18, 20].contains(message.type) {
                seeds.append(("\(name).\(index)", message.payload))
            }
        }
        let values: [AMF0Value] = [
            .undefined, .null, .unsupported, .reference(7), .boolean(true), .date(1_700_000_000_000), .xml("<a/>"),
            .string(String(repeating: "x", count: 300)), .typedObject(name: "T", [AMF0Property("a", .number(.nan))]),
            .strictArray([.number(1), .strictArray([.string("b")])]),
            .ecmaArray([
                AMF0Property("videocodecid", .number(7)), AMF0Property("o", .object([AMF0Property("", .null)])),
            ]),
        ]
        seeds.append(("every value", AMF0Writer.bytes(values)))
        let said: [[AMF0Property]] = [
            [AMF0Property("sd", .string("23-11-2026")), AMF0Property("st", .string("20:15:30.123"))],
            [AMF0Property("ts", .number(1_795_464_930_123)), AMF0Property("text", .string("hello \u{1F600}"))],
            EnhancedCapabilities(codecs: FLVDemuxer.usualCodecs, extensions: [.multitrack, .reconnect]).properties(
                use: 4),
        ]
        for (index, properties) in said.enumerated() {
            seeds.append(("said.\(index)", AMF0Writer.bytes([.string("onTextData"), .object(properties)])))
        }
        let deep = (0..<15).reduce(AMF0Value.null) { inner, _ in .object([AMF0Property("o", inner)]) }
        seeds.append(("deep", AMF0Writer.bytes([deep])))
        return seeds
    }

    static func run(_ bytes: [UInt8]) -> String? {
        let (values, fault) = AMF0Reader.values(in: bytes)
        var count = 0
        for value in values {
            if let broken = Self.check(value, depth: 0, &count) { return broken }
        }
        if count > AMF0Reader.maximumValues { return "\(count) values" }
        if fault == nil, bytes.count > 0, values.isEmpty { return "no value and no fault" }
        if let broken = Self.use(values) { return broken }
        let written = AMF0Writer.bytes(values)
        // Invalid UTF-8 becomes U+FFFD, which is longer: then a name may be too long, or a text truncated.
        if written.count >= 3,
            (2..<written.count).contains(where: {
                written[$0 - 2] == 0xEF && written[$0 - 1] == 0xBF && written[$0] == 0xBD
            })
        {
            return nil
        }
        let again = AMF0Reader.values(in: written)
        if let fault = again.fault { return "cannot read what was written: \(fault)" }
        // Compared by bytes, since NaN does not equal itself.
        if AMF0Writer.bytes(again.values) != written { return "what was written reads otherwise" }
        if again.values.count != values.count { return "\(values.count) values became \(again.values.count)" }
        return nil
    }

    private static func use(_ values: [AMF0Value]) -> String? {
        if let text = DataEvent.text(values[...]) {
            if text.utf8.count > DataEvent.longest { return "a data event too long" }
            if JSONParser.parse(Array(text.utf8)).root == nil { return "a data event that is no JSON" }
        }
        _ = DataMessageTime.find(values[...])
        for value in values.prefix(4) {
            let said = EnhancedCapabilities(value)
            let again = EnhancedCapabilities(.object(said.properties(use: 1)))
            if again.codecs != said.codecs || again.extensions != said.extensions { return "other capabilities" }
        }
        return nil
    }

    private static func check(_ value: AMF0Value, depth: Int, _ count: inout Int) -> String? {
        count += 1
        if depth > AMF0Reader.maximumDepth { return "deeper than allowed" }
        if case .strictArray(let elements) = value {
            for element in elements {
                if let broken = Self.check(element, depth: depth + 1, &count) { return broken }
            }
        }
        guard let properties = value.properties else { return nil }
        if properties.count > AMF0Reader.maximumProperties { return "\(properties.count) properties" }
        for property in properties {
            // An invalid byte becomes three.
            if property.name.utf8.count > 3 * AMF0Reader.maximumNameLength { return "a name too long" }
            if let broken = Self.check(property.value, depth: depth + 1, &count) { return broken }
        }
        return nil
    }
}
