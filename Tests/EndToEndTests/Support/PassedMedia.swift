import Foundation

/// Encoded frames in a publisher's file, and in a room's segments.
enum PassedMedia {
    /// Payloads of the H.264 frames of an FLV file, in order. Spec: Adobe FLV 10.1, Annex E.4.
    static func frames(flv path: String) throws -> [Data] {
        let bytes = try [UInt8](Files.bytes(path))
        var found: [Data] = []
        var place = 9 + 4
        while place + 11 <= bytes.count {
            let size = Int(bytes[place + 1]) << 16 | Int(bytes[place + 2]) << 8 | Int(bytes[place + 3])
            let body = place + 11
            guard body + size <= bytes.count else { break }
            // A frame of codec 7 in a NAL unit packet.
            if bytes[place] == 9, size > 5, bytes[body] & 0x0F == 7, bytes[body + 1] == 1 {
                found.append(Data(bytes[body + 5..<body + size]))
            }
            place = body + size + 4
        }
        return found
    }

    /// A frame of a segment: presentation time in the track's ticks, and its payload.
    struct Sample {
        var pts: Int64
        var duration: Int64
        var payload: Data
    }

    /// The samples of a fragmented MP4 video segment. Spec: ISO/IEC 14496-12 §8.8.
    static func samples(segment path: String) throws -> [Sample] {
        let bytes = try [UInt8](Files.bytes(path))
        func number(_ place: Int, _ count: Int = 4) -> Int64 {
            bytes[place..<place + count].reduce(0) { $0 << 8 | Int64($1) }
        }
        func boxes(_ range: Range<Int>) -> [(type: String, start: Int, body: Range<Int>)] {
            var found: [(String, Int, Range<Int>)] = []
            var place = range.lowerBound
            while place + 8 <= range.upperBound {
                let end = place + Int(number(place))
                guard end > place + 7, end <= range.upperBound else { break }
                found.append(
                    (String(decoding: bytes[place + 4..<place + 8], as: UTF8.self), place, place + 8..<end))
                place = end
            }
            return found
        }
        var samples: [Sample] = []
        for moof in boxes(0..<bytes.count) where moof.type == "moof" {
            for traf in boxes(moof.body) where traf.type == "traf" {
                var time: Int64 = 0
                for box in boxes(traf.body) {
                    let body = box.body.lowerBound
                    if box.type == "tfdt" { time = number(body + 4, 8) }
                    guard box.type == "trun" else { continue }
                    var data = moof.start + Int(number(body + 8))
                    for index in 0..<Int(number(body + 4)) {
                        let row = body + 12 + index * 16
                        let (duration, size) = (number(row), Int(number(row + 4)))
                        let offset = Int64(Int32(truncatingIfNeeded: number(row + 12)))
                        samples.append(
                            Sample(pts: time + offset, duration: duration, payload: Data(bytes[data..<data + size])))
                        time += duration
                        data += size
                    }
                }
            }
        }
        return samples
    }
}
