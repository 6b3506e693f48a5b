package import MediaKernels

/// One audio or video message of a published or played stream.
package struct RTMPMediaMessage: Sendable {
    package enum Kind: Sendable, Hashable { case audio, video }

    package var kind: Kind
    /// Timestamp in milliseconds, modulo 2³².
    package var timestamp: UInt32
    /// The FLV tag body: header byte(s) and data. May be empty.
    package var payload: PacketMemory

    package init(kind: Kind, timestamp: UInt32, payload: PacketMemory) {
        self.kind = kind
        self.timestamp = timestamp
        self.payload = payload
    }
}
