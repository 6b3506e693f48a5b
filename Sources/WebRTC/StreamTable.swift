/// Assigns the SSRCs of a peer to tracks, simulcast layers and their retransmissions.
///
/// An SSRC is assigned by its first packet, which must have been authenticated: by the payload type, the `mid` and `rid`
/// header extensions (RFC 9143 §9.2, RFC 8852), and the SSRCs of the offer. Another SSRC takes its place only after a BYE,
/// or after ``silence``, when the sender has evidently restarted. The table has at most ``mostEntries`` entries.
package struct StreamTable: Sendable {
    /// Time without a packet of an SSRC after which another one may take its place, in nanoseconds.
    package static let silence: Int64 = 2_000_000_000
    /// Maximum number of SSRCs of a peer, those of retransmissions included.
    package static let mostEntries = 8
    /// Maximum number of layers of a track; further ones are not received. Two SSRCs for each, and one for audio, are
    /// within ``mostEntries``.
    package static let mostLayers = 3

    package enum Match: Sendable, Hashable {
        /// The packet belongs to a stream.
        ///
        /// - Parameters:
        ///   - stream: Index in ``StreamTable/streams``.
        ///   - isRetransmission: Whether the packet is a retransmission (RTX) of one of the stream's packets.
        ///   - isNew: Whether this packet has assigned its SSRC to the stream.
        case stream(Int, isRetransmission: Bool, isNew: Bool)
        /// No track has the payload type.
        case unknownPayloadType
        /// Another SSRC has the stream, the SSRC has another payload type than before, its `mid` is that of no track with its
        /// payload type, its layer is not received, or the table is full.
        case refused
    }

    /// One stream: a track, or a layer of it.
    package struct Stream: Sendable, Hashable {
        package let track: Int
        package let layer: Int
    }

    private struct Entry {
        let ssrc: UInt32
        let stream: Int
        let isRetransmission: Bool
        let payloadType: UInt8
        var lastArrival: Int64
    }

    private let tracks: [NegotiatedTrack]
    package let streams: [Stream]
    private var entries: [Entry] = []
    /// Tracks whose packets have had a `rid`.
    private var tracksWithRid: Set<Int> = []

    package init(tracks: [NegotiatedTrack]) {
        self.tracks = tracks
        self.streams = tracks.enumerated().flatMap { index, track in
            (0..<min(max(1, track.rids.count), Self.mostLayers)).map { Stream(track: index, layer: $0) }
        }
    }

    /// Number of SSRCs in the table.
    package var count: Int { self.entries.count }

    /// The SSRC of a stream's original packets; nil before the first, and after a BYE.
    package func ssrc(of stream: Int) -> UInt32? {
        self.entries.first { $0.stream == stream && !$0.isRetransmission }?.ssrc
    }

    /// Any SSRC of original packets; nil if there is none.
    var firstSSRC: UInt32? { self.entries.first { !$0.isRetransmission }?.ssrc }

    /// The stream whose original packets have an SSRC.
    package func stream(ofOriginals ssrc: UInt32) -> Int? {
        self.entries.first { $0.ssrc == ssrc && !$0.isRetransmission }?.stream
    }

    /// The stream of an authenticated packet.
    package mutating func match(_ packet: RTPPacket, at now: Int64) -> Match {
        if let index = self.entries.firstIndex(where: { $0.ssrc == packet.ssrc }) {
            let entry = self.entries[index]
            guard packet.payloadType == entry.payloadType else {
                return self.known(packet) ? .refused : .unknownPayloadType
            }
            self.entries[index].lastArrival = now
            return .stream(entry.stream, isRetransmission: entry.isRetransmission, isNew: false)
        }
        guard let (track, isRetransmission) = self.track(of: packet) else {
            return self.known(packet) ? .refused : .unknownPayloadType
        }
        guard let layer = self.layer(of: packet, track: track, isRetransmission: isRetransmission),
            let stream = self.streams.firstIndex(of: Stream(track: track, layer: layer))
        else { return .refused }
        if let old = self.entries.firstIndex(where: { $0.stream == stream && $0.isRetransmission == isRetransmission })
        {
            guard now - self.entries[old].lastArrival >= Self.silence else { return .refused }
            // A restarted sender has new retransmissions, too.
            self.entries.removeAll { $0.stream == stream && (!isRetransmission || $0.isRetransmission) }
        }
        guard self.entries.count < Self.mostEntries else { return .refused }
        self.entries.append(
            Entry(
                ssrc: packet.ssrc, stream: stream, isRetransmission: isRetransmission,
                payloadType: packet.payloadType, lastArrival: now))
        return .stream(stream, isRetransmission: isRetransmission, isNew: true)
    }

    /// Removes the SSRCs of a BYE packet, so that others can take their place at once.
    package mutating func remove(_ ssrcs: [UInt32]) {
        self.entries.removeAll { ssrcs.contains($0.ssrc) }
    }

    private func known(_ packet: RTPPacket) -> Bool {
        self.tracks.contains { $0.payloadType == packet.payloadType || $0.rtxPayloadType == packet.payloadType }
    }

    private func track(of packet: RTPPacket) -> (track: Int, isRetransmission: Bool)? {
        var found: (track: Int, isRetransmission: Bool)?
        for (index, track) in self.tracks.enumerated() {
            let isRetransmission = track.rtxPayloadType == packet.payloadType
            guard isRetransmission || track.payloadType == packet.payloadType else { continue }
            // A `mid` decides, also against the payload type.
            if let id = track.midExtension, packet.element(id) != nil {
                guard packet.hasElement(id, equalTo: track.mid.utf8) else { continue }
                return (index, isRetransmission)
            }
            if track.ssrcs.contains(packet.ssrc) { return (index, isRetransmission) }
            if found == nil { found = (index, isRetransmission) }
        }
        return found
    }

    private mutating func layer(of packet: RTPPacket, track index: Int, isRetransmission: Bool) -> Int? {
        let track = self.tracks[index]
        guard track.rids.count > 1 else { return 0 }
        let id = isRetransmission ? track.repairedRidExtension : track.ridExtension
        if let layer = track.rids.firstIndex(where: { packet.hasElement(id, equalTo: $0.utf8) }) {
            self.tracksWithRid.insert(index)
            return layer
        }
        // A sender that offers layers but sends a single stream.
        return isRetransmission || self.tracksWithRid.contains(index) ? nil : 0
    }
}
