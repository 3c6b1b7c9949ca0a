import HomeHub
import HomeTypes

extension HomeShapes: HomeObserver {
    func watches(deviceID: String) -> Bool { isWatched(deviceID) }

    func take(_ observation: HomeObservation) {
        switch observation {
        case .device(let device): note(device)
        case .deviceRemoved(let id): noteRemoval(of: id)
        case .structureRemoved(let id): noteRemoval(ofStructure: id)
        case .structure(let structure): note(structure)
        case .event: break
        }
    }
}
