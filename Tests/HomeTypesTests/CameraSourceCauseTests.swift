import Foundation
import HomeTypes
import Testing

@Suite struct CameraSourceCauseTests {
    @Test func `each cause is read as it was written`() throws {
        let causes = CameraSourceCause.allCases
        #expect(try JSONDecoder().decode([CameraSourceCause].self, from: JSONEncoder().encode(causes)) == causes)
    }

    @Test func `a cause that only a newer gateway knows is read as other`() throws {
        let status = try JSONDecoder().decode(
            CameraSourceStatus.self, from: Data(#"{"state":"backingOff","tracks":[],"cause":"ofTomorrow"}"#.utf8))
        #expect(status.cause == .other)
    }
}
