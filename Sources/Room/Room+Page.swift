import Control
import Origin
import PipelineSpec

extension Room {
    /// What the operators' listener serves besides the API.
    ///
    /// - Parameter content: What viewers play; `nil`: nothing.
    func controlDoors(_ content: (any OriginContent)?) -> ControlListenerOptions {
        var doors = ControlListenerOptions()
        doors.player = ViewerPage.player
        doors.opensReads = self.pipeline.control.openReads
        doors.allowOrigins = self.pipeline.control.allowOrigins
        doors.logs = self.settings.logs
        doors.versions = self.settings.versions
        doors.requestsPerSecond = self.pipeline.control.maxRequestsPerSecond
        guard let content, let hls = self.pipeline.hls else { return doors }
        doors.keyOrigin = hls.encryption?.keyURI.flatMap { ViewerPage.origin(of: $0) }
        let responder = OriginResponder(content: content, policy: CORSPolicy(allowOrigins: []), roomTitle: "")
        doors.media = ControlListenerOptions.Media(isReading: hls.http.signedURLs == nil) { request, answer in
            responder.reply(to: request, answer)
        }
        return doors
    }
}
