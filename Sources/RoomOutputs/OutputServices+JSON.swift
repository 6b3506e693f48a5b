package import MediaTypes
import Push

extension OutputServices {
    /// The outputs as `GET /v1/room` shows them, in the order of the pipeline.
    package var json: JSONValue {
        let pushes = self.stages.live?.outputs.statuses ?? []
        return .array(
            self.host.pipeline.outputs.map { output -> JSONValue in
                var members: [JSONValue.Member] = [
                    .init("outputId", .string(output.outputID)), .init("type", .string(output.typeName)),
                ]
                switch output {
                case .hls(let hls):
                    members.append(.init("playlist", .string(hls.multivariantPlaylist)))
                    members.append(.init("lowLatency", .bool(hls.lowLatency)))
                case .rtmp:
                    members +=
                        pushes.first { $0.outputID == output.outputID }?.members
                        ?? [.init("state", .string(PushCore.State.waiting.rawValue))]
                case .http, .s3:
                    members += self.stages.uploads.first { $0.outputID == output.outputID }?.members ?? []
                case .transport(let output):
                    members.append(.init("playlist", .string("\(output.outputID)/\(output.multivariantPlaylist)")))
                case .record:
                    guard let recorder = self.stages.recorder else { break }
                    members.append(.init("state", .string(recorder.status.rawValue)))
                    members.append(.init("take", recorder.number.map { JSONValue($0) } ?? .null))
                case .raw, .image: break
                }
                return .object(members)
            })
    }
}
