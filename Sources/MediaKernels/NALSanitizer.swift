/// Converts H.264 payloads of publishers to the only form that the rest of the program accepts: NAL units with
/// four-byte lengths, no empty units, no start codes.
@safe
public enum NALSanitizer {
    /// Result of checking a payload.
    public enum Outcome: Sendable {
        /// The payload has the required form already; nothing was copied.
        case unchanged(NALTypes)
        /// The payload was rewritten to new memory, all of which is payload.
        case rewritten(LengthPrefixedPayload)
        /// The payload has no NAL unit.
        case empty
        /// The payload is not length-prefixed and does not begin with a start code.
        case malformed
    }

    /// Checks the payload in `range` of `memory`, and rewrites it if necessary.
    ///
    /// Lengths are tried first: a payload whose last unit ends exactly at its end is length-prefixed, even if it begins
    /// with bytes that look like a start code. Otherwise Annex B is tried, if it begins with a start code.
    ///
    /// - Parameter lengthSize: Bytes per length according to the stream's configuration, 1 to 4.
    public static func sanitize(_ memory: PacketMemory, in range: Range<Int>, lengthSize: Int) -> Outcome {
        unsafe memory.withBytes(in: range) { bytes in unsafe self.sanitize(bytes, lengthSize: lengthSize) }
    }

    /// Checks and rewrites a payload like ``sanitize(_:in:lengthSize:)``, for bytes outside a ``PacketMemory``.
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
        // All bytes are available, so the whole size can be reserved.
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
