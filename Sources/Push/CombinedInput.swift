package import MediaTypes

/// Combines one input with the audio of other inputs as additional audio tracks, such as app audio and a microphone.
package final class CombinedInput: PublishInput {
    package let parameters: [CodecParameters]
    package let picture: (width: Int, height: Int, fps: Int)?

    private let inputs: [any PublishInput]
    /// The next packet of each input; `nil` if it has ended.
    private var heads: [CodedPacket?]

    /// Combines `main` with the audio of `audio`.
    ///
    /// - Parameter audio: Inputs whose first audio track becomes track 1, 2, 3 … of the publication; their other tracks
    ///   are left out.
    /// - Throws: Errors of the inputs when they read their first packet.
    package init(_ main: any PublishInput, audio: [any PublishInput]) throws(MediaError) {
        self.inputs = [main] + audio
        self.picture = main.picture
        var all = main.parameters
        for (index, input) in audio.enumerated() {
            guard var parameters = input.parameters.first(where: { $0.kind == .audio }) else { continue }
            parameters.track = UInt8(clamping: index + 1)
            all.append(parameters)
        }
        self.parameters = all
        self.heads = []
        for index in self.inputs.indices { self.heads.append(try Self.read(self.inputs[index], index)) }
    }

    private static func read(_ input: any PublishInput, _ index: Int) throws(MediaError) -> CodedPacket? {
        // A repeated file without audio would be read without end.
        if index > 0, !input.parameters.contains(where: { $0.kind == .audio }) { return nil }
        while var packet = try input.next() {
            if index == 0 { return packet }
            // Of several audio tracks, only the first is announced.
            guard packet.kind == .audio, packet.track == input.parameters.first(where: { $0.kind == .audio })?.track
            else { continue }
            packet.track = UInt8(clamping: index)
            return packet
        }
        return nil
    }

    package func next() throws(MediaError) -> CodedPacket? {
        var first: (index: Int, time: Int64)?
        for (index, head) in self.heads.enumerated() {
            guard let head else { continue }
            let time = TimeMath.rescale(head.dts, from: Int64(max(1, head.timescale)), to: TimeMath.nanoseconds)
            if first.map({ time < $0.time }) ?? true { first = (index, time) }
        }
        guard let index = first?.index else { return nil }
        let packet = self.heads[index]
        let following = try Self.read(self.inputs[index], index)
        self.heads[index] = following
        return packet
    }
}

/// Identifies a track of a publication.
struct PublishTrack: Hashable {
    private let kind: TrackKind
    private let number: UInt8

    init(_ parameters: CodecParameters) { (self.kind, self.number) = (parameters.kind, parameters.track) }
    init(_ packet: CodedPacket) { (self.kind, self.number) = (packet.kind, packet.track) }
}
