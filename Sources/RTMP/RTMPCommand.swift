import MediaKernels

/// A command message: a name, a transaction id and arguments.
///
/// Spec: RTMP 1.0 §7.2.
package struct RTMPCommand: Sendable, Hashable {
    package var name: String
    /// Transaction id; 0 if no answer is expected. It comes from the peer and may be any number, including NaN.
    package var transaction: Double
    /// The command object, followed by the arguments.
    package var arguments: [AMF0Value]

    package init(_ name: String, transaction: Double = 0, _ arguments: [AMF0Value] = [.null]) {
        self.name = name
        self.transaction = transaction
        self.arguments = arguments
    }

    /// Reads a message of type 20 or 17; nil if it has no name.
    ///
    /// A type 17 payload begins with a format byte that is 0 for AMF0 (Enhanced RTMP, "Historical Specification
    /// Clarification").
    package init?(
        _ message: RTMPMessage, depth: Int = AMF0Reader.maximumDepth, fault: inout AMF0Reader.Fault?
    ) {
        let start = message.type == .commandAMF3 ? 1 : 0
        let parsed = AMF0Reader.values(in: message.payload.bytes, from: start, depth: depth)
        fault = parsed.fault
        guard let name = parsed.values.first?.string else { return nil }
        self.name = name
        self.transaction = parsed.values.count > 1 ? parsed.values[1].number ?? 0 : 0
        self.arguments = Array(parsed.values.dropFirst(2))
    }

    /// The argument at `index`, counted from the command object; nil if there is none.
    package func argument(_ index: Int) -> AMF0Value? {
        self.arguments.indices.contains(index) ? self.arguments[index] : nil
    }

    /// Returns the command as a message of type 20.
    package func message(chunkStreamID: UInt32, streamID: UInt32) -> RTMPMessage {
        let values = [.string(self.name), .number(self.transaction)] + self.arguments
        return RTMPMessage(
            chunkStreamID: chunkStreamID, type: .commandAMF0, streamID: streamID, timestamp: 0,
            payload: PacketMemory(AMF0Writer.bytes(values)))
    }
}
