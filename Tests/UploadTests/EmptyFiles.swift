import HLS
import Upload

/// An empty directory that stores no record; each test overrides what it needs.
protocol EmptyFiles: UploadFiles {}

extension EmptyFiles {
    func bytes(of name: String) -> [UInt8]? { nil }
    func bytes(of name: String, in directory: String) -> [UInt8]? { nil }
    func slate(like segment: Segment, track: String) -> [UInt8]? { nil }
    func record() -> UploadRecord? { nil }
    func keep(_ record: UploadRecord, durable: Bool) -> Bool { false }
    func forget() {}
}
