import LibAV
package import MediaTypes

/// Reads a media file and feeds it to a source's decode stage, as fast as the stage accepts it. Runs on a thread of its
/// own.
package struct FileReader: Sendable {
    package let path: String
    package let loops: Bool
    package let place: String
    /// Whether the file may be a named pipe, whose writer the reading thread waits for.
    package let allowsPipe: Bool
    /// The file that ``probe()`` opened. Probing takes as long as decoding several frames, so it is not done again for the first pass.
    private var opened: OpenedFile?

    package init(path: String, loops: Bool, place: String, allowsPipe: Bool = false) {
        self.path = path
        self.loops = loops
        self.place = place
        self.allowsPipe = allowsPipe
    }

    /// Opens the file, so that a bad file is rejected before the room is ready, and returns the parameters of its
    /// tracks. ``run(into:arrival:)`` continues with the opened file.
    ///
    /// - Throws: ``MediaError/Code/notReadable``, ``MediaError/Code/invalidData``.
    package mutating func probe() throws(MediaError) -> [CodecParameters] {
        let demuxer = try Demuxer.open(path: self.path, place: self.place, allowsPipe: self.allowsPipe)
        self.opened = OpenedFile(demuxer)
        return demuxer.parameters
    }

    /// Feeds `stage` until the file ends or the stage stops. The timestamps are shifted so that the first video frame,
    /// or the earliest packet of a file without video, has time zero, which is program time zero in an offline room. A
    /// looping file starts again at its end, unless it is empty.
    ///
    /// - Parameter arrival: Returns the current machine time, the arrival time of the packets in a live room.
    /// - Throws: ``MediaError`` if the file cannot be opened.
    package func run(into stage: DecodeStage, arrival: @Sendable () -> Int64) throws(MediaError) {
        var base: Int64 = 0
        repeat {
            let demuxer: Demuxer
            if let opened = self.opened?.take() {
                demuxer = opened
            } else {
                demuxer = try Demuxer.open(path: self.path, place: self.place, allowsPipe: self.allowsPipe)
            }
            for parameters in demuxer.parameters { stage.put(.configuration(parameters)) }
            var start: Int64?
            var end: Int64 = base
            // Packets are held until every track has one, at most 64: all tracks decide which timestamp becomes zero.
            var held: [(packet: CodedPacket, change: CodecParameters?)] = []
            let kinds = demuxer.parameters.count
            while let packet = demuxer.next() {
                guard !stage.isStopped else { return }
                if start == nil {
                    held.append((packet, demuxer.change))
                    guard Set(held.map(\.packet.kind)).count == kinds || held.count >= 64 else { continue }
                    start = Self.start(of: held.map(\.packet))
                    for early in held {
                        if let change = early.change { stage.put(.configuration(change)) }
                        end = max(end, self.put(early.packet, base, start ?? 0, stage, arrival()))
                    }
                    held = []
                    continue
                }
                if let change = demuxer.change { stage.put(.configuration(change)) }
                end = max(end, self.put(packet, base, start ?? 0, stage, arrival()))
            }
            let first = start ?? Self.start(of: held.map(\.packet))
            for early in held {
                if let change = early.change { stage.put(.configuration(change)) }
                end = max(end, self.put(early.packet, base, first, stage, arrival()))
            }
            // A file of zero length would be read again and again without end.
            guard end > base else { break }
            base = end
        } while self.loops && !stage.isStopped
        stage.put(.end)
    }

    /// Returns the timestamp that becomes the start of the pass: that of the first video frame, so that this frame is on
    /// air at the first tick of an offline room, where earlier audio is cut. Without video, the earliest timestamp.
    private static func start(of packets: [CodedPacket]) -> Int64 {
        let frames = packets.filter { $0.kind == .video }
        return (frames.isEmpty ? packets : frames).map(\.pts).min() ?? 0
    }

    /// Feeds a packet to the stage with its timestamps shifted so that `start` becomes `base`.
    ///
    /// - Returns: The end time of the packet, in the demuxer's timescale.
    private func put(_ packet: CodedPacket, _ base: Int64, _ start: Int64, _ stage: DecodeStage, _ arrival: Int64)
        -> Int64
    {
        var packet = packet
        packet.pts = packet.pts &- start &+ base
        packet.dts = packet.dts &- start &+ base
        packet.arrival = arrival
        stage.put(.packet(packet))
        return packet.pts &+ max(packet.duration, 0)
    }
}
