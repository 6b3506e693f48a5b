/// Brings what encoders send as H.264 payload into the one form the rest of the program reads: four-byte lengths, no
/// empty units, no start codes.
@safe
public enum NALSanitizer {
    /// What became of a payload.
    public enum Outcome: Sendable {
        /// It is in form already; nothing was copied.
        case unchanged(NALTypes)
        /// It was rewritten into new memory, all of which is payload.
        case rewritten(LengthPrefixedPayload)
        /// No NAL unit is left.
        case empty
        /// Neither lengths nor start codes explain the bytes.
        case malformed
    }

    /// Looks at the payload in `range` of `memory`, and rewrites it when it must be.
    ///
    /// Lengths are tried first: a payload whose lengths land exactly on its end is length-prefixed, even if it begins with
    /// bytes that look like a start code. Only then Annex B, if it begins with a start code.
    ///
    /// - Parameter lengthSize: Bytes of each length by the stream's configuration, 1 to 4.
    public static func sanitize(_ memory: PacketMemory, in range: Range<Int>, lengthSize: Int) -> Outcome {
        unsafe memory.withBytes(in: range) { bytes in unsafe self.sanitize(bytes, lengthSize: lengthSize) }
    }

    /// The same on borrowed bytes.
    public static func sanitize(_ bytes: UnsafeRawBufferPointer, lengthSize: Int) -> Outcome {
        if unsafe bytes.isEmpty { return .empty }
        let summary = unsafe LengthPrefixedNALs.summary(bytes, lengthSize: lengthSize)
        if summary.lands {
            if summary.units == 0 { return .empty }
            if lengthSize == 4 && summary.emptyUnits == 0 && summary.startCodeUnits == 0 {
                return .unchanged(summary.types)
            }
            return unsafe self.outcome(self.rewrite(bytes, lengthSize: lengthSize))
        }
        guard unsafe AnnexB.beginsWithStartCode(bytes) else { return .malformed }
        return unsafe self.outcome(AnnexB.lengthPrefixed(bytes))
    }

    private static func outcome(_ payload: LengthPrefixedPayload) -> Outcome {
        payload.memory.count == 0 ? .empty : .rewritten(payload)
    }

    private static func rewrite(_ bytes: UnsafeRawBufferPointer, lengthSize: Int) -> LengthPrefixedPayload {
        // All of it is there.
        var assembler = PacketAssembler(expecting: bytes.count &+ 64, reserving: bytes.count &+ 64)
        var types: NALTypes = []
        _ = unsafe LengthPrefixedNALs.walk(bytes, lengthSize: lengthSize) { range in
            if range.isEmpty { return }
            // Checked by the walk: `range` lies inside `bytes`.
            let unit = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
            if unsafe AnnexB.startCodeLength(at: 0, in: unit) > 0 {
                unsafe AnnexB.walk(unit) { inner in
                    unsafe types.formUnion(NALTypes(header: unit[inner.lowerBound]))
                    unsafe assembler.appendNAL(UnsafeRawBufferPointer(rebasing: unit[inner]))
                }
            } else {
                unsafe types.formUnion(NALTypes(header: unit[0]))
                unsafe assembler.appendNAL(unit)
            }
        }
        return LengthPrefixedPayload(memory: assembler.finish(), types: types)
    }
}
