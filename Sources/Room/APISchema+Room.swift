import Control
import MediaTypes
import Recording
import RoomAPI
import RoomOutputs
import RoomScenes

/// API schemas of the room and its parts. A schema without a Swift type is declared here.
extension APISchema {
    static let room: [APISchema] = [
        RoomReply.schema, ProgramState.schema, CanvasReply.schema, RenditionReply.schema, LatencyReply.schema,
        OverloadReply.schema, DiskState.Status.schema, OutputReply.schema, PKReply.schema,
        AlarmListReply.schema,
        APISchema(
            "RecordState",
            "stopping: the current segment is the last; suspended: stopped because the disk is full or fails, continues by itself",
            .words(SessionRecorder.Status.allCases.map(\.rawValue))),
    ]
}
