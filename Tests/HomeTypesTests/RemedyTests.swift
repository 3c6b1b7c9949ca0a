import Foundation
import HomeTypes
import Testing

@Suite struct RemedyTests {
    private static let error = HomeError.notFound("no device has the id \"attic\"").advising(
        request: "GET /v1/devices lists them", command: "gatehouse devices lists them")

    @Test func `a remedy crosses the network in both wordings`() throws {
        let data = try JSONEncoder().encode(HomeErrorResponse(Self.error))
        let response = try JSONDecoder().decode(HomeErrorResponse.self, from: data)
        // A program that shows the message alone shows what to do, too.
        #expect(response.error.message == "no device has the id \"attic\"; GET /v1/devices lists them")
        let error = response.homeError
        #expect(error.message == Self.error.message && error.remedy == Self.error.remedy)
        #expect(error.commandMessage == "no device has the id \"attic\"; gatehouse devices lists them")
        #expect(error.requestMessage == response.error.message)
    }

    @Test func `an error without a remedy says the same to everybody`() throws {
        let error = HomeErrorResponse(.notFound("no such path")).homeError
        #expect(error.remedy == nil && error.commandMessage == "no such path" && error.requestMessage == "no such path")
    }
}
