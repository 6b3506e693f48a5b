import MediaTypes

/// One layer of a simulcast offer.
///
/// Spec: RFC 8851 §10 (`rid`), RFC 8853 §5.1 (`simulcast`).
struct SimulcastLayer: Sendable, Hashable {
    /// Maximum number of layers of an offer. libwebrtc sends up to 3, OBS up to 4.
    static let most = 4

    var rid: String
    /// Payload types of the layer; nil: any of the section.
    var payloadTypes: Set<UInt8>?

    /// The layers that the section sends, in order. Of alternatives for one layer, the first counts.
    ///
    /// - Throws: 400 if the attribute names no layers, names one twice, or a rid is malformed or not declared; 422 for too many
    ///   layers.
    static func parse(_ attributes: [SessionDescription.Attribute]) throws(WHIPError) -> [SimulcastLayer] {
        guard let value = attributes.first(named: "simulcast") else { return [] }
        let words = value.split(separator: " ")
        guard let send = words.firstIndex(of: "send") else { return [] }
        guard send + 1 < words.count else { throw .malformed("simulcast:send names no layers") }
        let declared = Self.declarations(attributes)
        var layers: [SimulcastLayer] = []
        for choice in words[send + 1].split(separator: ";", omittingEmptySubsequences: false) {
            // A tilde marks a layer that is paused at first.
            let name = choice.split(separator: ",").first.map { $0.first == "~" ? $0.dropFirst() : $0 } ?? ""
            guard !name.isEmpty, name.utf8.count <= 16, name.isPlain(marks: "-_"), let types = declared[name],
                !layers.contains(where: { $0.rid == name })
            else { throw .malformed("simulcast names a layer without a valid rid, or a layer twice") }
            layers.append(SimulcastLayer(rid: String(name), payloadTypes: types))
        }
        guard layers.count <= Self.most else {
            throw .unacceptable(
                "the offer has \(layers.count) simulcast layers, which are too many",
                fix: "offer at most \(Self.most) layers")
        }
        return layers
    }

    private static func declarations(_ attributes: [SessionDescription.Attribute]) -> [Substring: Set<UInt8>?] {
        var declared: [Substring: Set<UInt8>?] = [:]
        for value in attributes.all(named: "rid") {
            let words = value.split(separator: " ")
            guard words.count >= 2, words[1] == "send", declared[words[0]] == nil else { continue }
            let restrictions = words.count > 2 ? FormatParameters.parse(words[2]) : [:]
            let types = restrictions["pt"].map { Set($0.split(separator: ",").compactMap { RTPMap.payloadType($0) }) }
            declared.updateValue(types, forKey: words[0])
        }
        return declared
    }
}
