import HLS
import Upload

/// A directory in which there is nothing, and that takes no note; what a test is about, its own type says.
protocol EmptyFiles: UploadFiles {}

extension EmptyFiles {
    func bytes(of name: String) -> [UInt8]? { nil }
    func bytes(of name: String, in directory: String) -> [UInt8]? { nil }
    func slate(like segment: Segment, track: String) -> [UInt8]? { nil }
    func record() -> UploadRecord? { nil }
    func keep(_ record: UploadRecord, durable: Bool) -> Bool { false }
    func forget() {}
}
